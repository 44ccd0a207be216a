import { start } from './manage/index.ts'

start()
