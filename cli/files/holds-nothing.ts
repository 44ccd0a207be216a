/** What is said of a file, or of its front matter, where nothing stands in it. */
export const holdsNothing = (what: 'file' | 'front matter'): string =>
  `The ${what} holds nothing; a card or a manifest was expected.`
