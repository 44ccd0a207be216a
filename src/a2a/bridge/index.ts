export { type AnswerForCaller, type BridgedCall, bridgeCall } from './bridge-call.ts'
