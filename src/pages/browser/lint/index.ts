import { loadModule } from '../api/index.ts'

export * from './card-link.ts'

/** Loads what checks a card and shows the report, with the first check. */
export const loadReport = loadModule(() => import('./report.tsx'))
