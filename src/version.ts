/** The version of this product, the same for the host and `sync-card`. */
export const VERSION = '0.1.0'
