import { render } from 'hono/jsx/dom'
import { byId, enableCopying } from './dom/index.ts'
import { App } from './manage/index.ts'

enableCopying()
render(<App />, byId('manage', HTMLElement))
