export * from './card.ts'
export * from './defaults.ts'
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
export {
  endpointFields,
  isInterfaceList,
  parseCardVersion,
  pickV0Interface,
  pickV1Interface,
  presentEndpointFields,
  speaksV1,
  superxProtocol,
  topLevelVersion,
  writeV0Interfaces,
} from './interfaces.ts'
export * from './mcp-tools.ts'
export * from './provenance.ts'
export { allowsAnonymous, writeV0Requirements } from './security-requirements.ts'
export {
  getWrappers,
  oauthFlows,
  readAuthentication,
  V0Authentication,
  writeV0Scheme,
  writeV0SchemeWithWrapper,
} from './security-schemes.ts'
export { readSkills } from './skills.ts'
export * from './transports.ts'
export * from './validate.ts'
