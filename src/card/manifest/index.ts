export { hiddenByDefault, privateFields, readFrontMatter } from './front-matter.ts'
export { conversionConfig, createManifestSchema } from './json-schema.ts'
export * from './manifest.ts'
export { Source, type TrustedKeys } from './upstream.ts'
