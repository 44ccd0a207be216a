export { TEMPLATE_NAMES } from './profiles.ts'
export { findHost, type HostNameFlags, type HostSettings, type ResolvedHost, resolveHost } from './resolve.ts'
export { isLoopback, isUnencrypted, localSecretsFile, localUrl, parseHostUrl, warnUnencrypted } from './urls.ts'
