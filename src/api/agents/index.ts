export { agentPage, readShamanList, readSuperxList, respondWithList } from './lists.ts'
export { decodeCursor, digestSearch, encodeCursor, rankingCursor } from './search-query.ts'
