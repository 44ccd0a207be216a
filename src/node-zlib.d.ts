/** The part of Node's API that the Worker uses: the Compression Streams of the web are asynchronous. */
declare module 'node:zlib' {
  /** The parameters of a compression with Zstandard, by the numbers in `constants`. */
  type Parameters = { params: Readonly<Record<number, number>> }
  /** Compresses bytes with Zstandard. */
  export const zstdCompressSync: (bytes: Uint8Array, options: Parameters) => Uint8Array<ArrayBuffer>
  /** Decompresses bytes that Zstandard has compressed. Throws if they become longer than `maxOutputLength`. */
  export const zstdDecompressSync: (
    bytes: Uint8Array,
    options: { maxOutputLength: number; chunkSize: number },
  ) => Uint8Array<ArrayBuffer>
  export const constants: Readonly<
    Record<'ZSTD_c_compressionLevel' | 'ZSTD_c_windowLog' | 'ZSTD_c_enableLongDistanceMatching', number>
  >
}
