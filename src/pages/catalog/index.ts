export { getCatalogPage } from './catalog-page.tsx'
