export { countList, type FoundAgent, LIST_FORMATS, listResponse, listVisibleAgents } from './lists.ts'
export { decodeCursor, digestSearch, encodeCursor, rankingCursor } from './search-query.ts'
