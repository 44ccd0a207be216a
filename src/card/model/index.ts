export * from './agent-card.ts'
export * from './agent-card-proto.ts'
export * from './observed-calls.ts'
export * from './receipt-format.ts'
export * from './registration-report.ts'
export * from './start.ts'
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
} from './validation.ts'
