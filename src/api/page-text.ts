const named: Readonly<Record<string, string>> = {
  period: '.',
  colon: ':',
  sol: '/',
  bsol: '\\',
  hyphen: '-',
  dash: '-',
}

/** What takes no room where it is read. */
const invisible = /[\u00ad\u200b-\u200d\u2060\ufeff]/g

/** What a page or a picture in markup says to people: without its tags, character references as what they stand for. */
export const pageText = (markup: string): string =>
  markup
    .replace(/<[^<>]*>/g, '')
    .replace(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));?/gi, (reference, hexadecimal?: string, decimal?: string) =>
      character(hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16), reference),
    )
    .replace(/&(\w{3,6});/g, (reference, name: string) => named[name] ?? reference)
    .replace(/&(?:shy|zwn?j|zerowidthspace|nobreak);/gi, '')
    .replace(invisible, '')

const character = (code: number, reference: string): string =>
  code <= 0x10ffff ? String.fromCodePoint(code) : reference
