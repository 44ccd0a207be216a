export type { Diagnostic } from '../../src/card/file/index.ts'
export { type Draft, type LocatedIssue, locateInCard, locateIssues } from './draft.ts'
export {
  CARDS_FOLDER,
  defaultToCardsFolder,
  findCardFiles,
  isCardFileName,
  isFolder,
  LINK_OUTSIDE,
  leadsOutside,
  pathsToWatch,
  rejectLinkOutside,
} from './find-files.ts'
export { applyDefaults, DEFAULTS_NAMES, foldersAbove, removeDefaults } from './folder-defaults.ts'
export * from './load.ts'
export { normalizeManifest } from './manifest-source.ts'
export * from './starter.ts'
export * from './write.ts'
