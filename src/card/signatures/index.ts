export { didDocumentUrl } from '../../net/did-web.ts'
export { listSignatures, readHeader } from './header.ts'
export {
  type FetchJson,
  KEY_SET_PATH,
  type KeySource,
  NARROW_KEY_SET_PATH,
  type ResolvedKeys,
  resolveKeys,
} from './key-sources.ts'
export { toCurrentForm } from './legacy-form.ts'
export { type PayloadRule, payloadRules, payloads, writePayload } from './payloads.ts'
export { type PublicKey, readKeys } from './public-keys.ts'
export { findSdkVerdicts, type SdkVerdict, type ServedCards } from './sdks.ts'
export { type CardSigner, type SignedCard, signCard } from './sign.ts'
export {
  type ChosenKeys,
  chooseKeys,
  resolveCardUrl,
  type Trust,
  type Verification,
  type VerifiedSignature,
  verifyCard,
} from './verification.ts'
export { type SignatureResult, verifySignatures } from './verify.ts'
