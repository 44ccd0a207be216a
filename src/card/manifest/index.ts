export { hiddenByDefault, privateFields, readFrontMatter } from './front-matter.ts'
export * from './json-schema.ts'
export {
  callerPolicy,
  findLocalHost,
  hasRemoteCard,
  isBridged,
  type KnownOrigins,
  Manifest,
  type ParsedManifest,
  readManifest,
  resolveOrigin,
  taskPolicy,
} from './manifest.ts'
export { listTiers, type Overlay, tierRule } from './tiers.ts'
export { resolveSource, Source } from './upstream.ts'
