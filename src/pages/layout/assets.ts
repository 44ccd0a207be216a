/** The paths of static assets by their names in the source: each has a hash of its content. tools/build.ts defines it; a test has none. */
declare const ASSET_PATHS: Readonly<Record<string, string>>

/** Returns the path of a style sheet or script that a page loads, such as `site.css` or `catalog.js`. */
export const assetPath = (name: string): string => ASSET_PATHS[name] ?? `/assets/${name}`
