export { type AnswerForCaller, type BridgedCall, bridgeCall } from './requests.ts'
