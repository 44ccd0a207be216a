export { hiddenByDefault, privateFields, readFrontMatter } from './front-matter.ts'
export { conversionConfig, createManifestSchema } from './json-schema.ts'
export {
  callerPolicy,
  findLocalHost,
  hasRemoteCard,
  isBridged,
  type KnownOrigins,
  listTiers,
  Manifest,
  type Overlay,
  type ParsedManifest,
  readManifest,
  resolveOrigin,
  taskPolicy,
  tierRule,
} from './manifest.ts'
export { resolveSource, Source } from './upstream.ts'
