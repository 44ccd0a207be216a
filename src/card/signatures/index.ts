export * from './card-jws.ts'
export { listSignatures, parseHeader, readHeader } from './header.ts'
export {
  chooseKeys,
  KEY_SET_PATH,
  type KeySource,
  listKeySetUrls,
  type PublicKey,
  readKeys,
  resolveKeys,
  type Trust,
} from './key-sources.ts'
export { toCurrentForm } from './legacy-form.ts'
export { type PayloadRule, payloadRules, payloads, writePayload } from './payloads.ts'
export * from './served-cards.ts'
export { type SignatureResult, verifySignatures } from './verify-signatures.ts'
