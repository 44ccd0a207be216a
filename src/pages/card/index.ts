export { CardDocument, findView, getCardPage, renderCardPage, views } from './card-page.tsx'
export { Signatures, signingWords } from './signatures.tsx'
