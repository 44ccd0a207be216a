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
export {
  isUnread,
  type LoadedManifests,
  loadManifests,
  readFolderDefaults,
  rejectNoCards,
  type SkippedFile,
  skippedText,
} from './load.ts'
export { normalizeManifest } from './normalize.ts'
export { readFile } from './read-file.ts'
export {
  isIssuerUrl,
  isLocalAddress,
  isRemoteCard,
  isUneditedStarter,
  STARTER_DEFAULTS,
  type StarterAnswers,
  starterCard,
  starterDefaults,
} from './starter.ts'
export { addMissingLines, createFile, createPart, renderManifest, replaceFile } from './write.ts'
