export { listSignatures, parseHeader, readHeader } from './header.ts'
export {
  chooseKeys,
  KEY_SET_PATH,
  type KeySource,
  listKeySetUrls,
  resolveKeys,
  type Trust,
} from './key-sources.ts'
export { toCurrentForm } from './legacy-form.ts'
export { type PayloadRule, payloadRules, payloads, writePayload } from './payloads.ts'
export { type PublicKey, readKeys } from './public-keys.ts'
export { findSdkVerdicts, type SdkVerdict } from './sdks.ts'
export { type FetchJson, fetchServedCards, isAgentCard, resolveCardUrl, type ServedCards } from './served-cards.ts'
export { type CardSigner, signCard, signedRules } from './sign.ts'
export { type Verification, verifyCard } from './verify-card.ts'
export { type SignatureResult, verifySignatures } from './verify-signatures.ts'
