export { isLoopback, isUnencrypted, localUrl, parseHostUrl, TEMPLATE_NAMES } from './profiles.ts'
export { findHost, type HostNameFlags, type HostSettings, type ResolvedHost, resolveHost } from './resolve.ts'
export { claimFile, startedFile } from './started.ts'
