export { EXPORT_TYPE, parseTrailer, type Trailer } from './format.ts'
