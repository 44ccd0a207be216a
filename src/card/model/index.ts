export * from './agent-card.ts'
export * from './observations.ts'
export * from './receipt.ts'
export * from './report.ts'
export {
  dedupeByPointer,
  hostList,
  hostname,
  httpUrl,
  json,
  jsonObject,
  link,
  looseObject,
  MAX_TIME_SECONDS,
  record,
  revisionNumber,
  singleLine,
  strictObject,
  stringList,
  timestamp,
  unknownField,
  validate,
  wholeNumber,
} from './schema.ts'
export * from './start.ts'
