import { crc32, deflateSync } from 'node:zlib'

const signature = Buffer.from([0x89, ...Buffer.from('PNG\r\n\x1a\n')])

/** A square picture in black and white as a PNG file, `size` pixels wide and high, a multiple of 8. */
export const png = (size: number, isDark: (x: number, y: number) => boolean): Buffer => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  // One bit a pixel; what follows is 0: shades of grey, deflated, filtered as each row says, not interlaced.
  header[8] = 1
  const rows = Array.from({ length: size }, (_, y) => row(size, x => isDark(x, y)))
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** A byte that names the filter, none, and eight pixels to a byte, the leftmost in the highest bit; 1 is white. */
const row = (size: number, isDark: (x: number) => boolean): Buffer => {
  const bytes = Buffer.alloc(1 + size / 8)
  for (let x = 0; x < size; x++) {
    const at = 1 + Math.floor(x / 8)
    if (!isDark(x)) bytes[at] = (bytes[at] ?? 0) | (0x80 >> (x % 8))
  }
  return bytes
}

/** Its length, its type, what it holds, and a sum of both to check them by. */
const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type), data])
  const whole = Buffer.alloc(body.length + 8)
  whole.writeUInt32BE(data.length, 0)
  body.copy(whole, 4)
  whole.writeUInt32BE(crc32(body), body.length + 4)
  return whole
}
