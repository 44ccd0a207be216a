export { EXPORT_TYPE, parseJson, parseTrailer, type Trailer } from './format.ts'
