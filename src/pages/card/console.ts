import { html } from 'hono/html'
import type { Html } from '../layout/page.ts'
import type { CardFacts } from './facts.ts'

/** Returns the section of a card page in which a person tries the agent. */
export const consoleSection = ({ id }: CardFacts): Html =>
  html`<section id="console" data-agent="${id}" hidden></section>`
