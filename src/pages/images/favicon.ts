/** The icon of this host's pages: a card with a monogram, a name and a line of text. */
export const FAVICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2f5bd0"/><rect x="5" y="8" width="22" height="16" rx="3" fill="#fff"/><circle cx="11" cy="14" r="2.75" fill="#2f5bd0"/><path d="M16.5 12.75h7M16.5 16h4.5M8.25 20h15.25" fill="none" stroke="#2f5bd0" stroke-width="1.75" stroke-linecap="round"/></svg>'
