export { listMcpTools, readSkills, readToolCard, toolIds, withMcpEndpoint } from './agent-skills.ts'
export {
  applyAliases,
  canonicalFlag,
  canonicalizeKeys,
  canonicalKey,
  type DialectAliases,
  fieldAliases,
  findField,
  hasField,
  indexFields,
  knownFields,
  listCapabilityNames,
  type ObjectKind,
} from './field-names.ts'
export * from './foreign.ts'
export * from './interfaces.ts'
export * from './provenance.ts'
export * from './read-card.ts'
export { allowsAnonymous, writeV0Requirements } from './security-requirements.ts'
export {
  getWrappers,
  oauthFlows,
  readAuthentication,
  schemeWrappers,
  V0Authentication,
  writeV0Scheme,
  writeV0SchemeWithWrapper,
} from './security-schemes.ts'
export * from './validate.ts'
