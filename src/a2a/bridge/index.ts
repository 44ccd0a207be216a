export { type AnswerForCaller, type BridgedCall, bridgeCall } from './bridge-call.ts'
export { writeObject } from './objects.ts'
export { translateAnswer } from './translate-answer.ts'
