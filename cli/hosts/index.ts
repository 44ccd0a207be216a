export { TEMPLATE_NAMES } from './profiles.ts'
export { type HostNameFlags, type HostSettings, type ResolvedHost, resolveHost, resolvePublicHost } from './resolve.ts'
export { isLoopback, isUnencrypted, LOCAL_TOKEN, localUrl, parseHostUrl, warnUnencrypted } from './urls.ts'
