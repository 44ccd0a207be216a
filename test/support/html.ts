const characters: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }

/** Returns the text that escaped HTML stands for. */
export const unescapeHtml = (text: string): string =>
  text.replace(/&(lt|gt|quot|#39|amp);/g, (_, entity) => characters[entity] ?? '')

/** Returns a snippet of a card page, as a person copies it; '' for none. */
export const snippetIn = (html: string, name: string): string =>
  unescapeHtml(new RegExp(`<code id="snippet-${name}">(.*?)</code>`, 's').exec(html)?.[1] ?? '')
