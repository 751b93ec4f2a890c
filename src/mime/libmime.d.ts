// What we use of libmime, which brings no types: names and decoding of character sets, file name extensions.

declare module 'libmime' {
  const libmime: { detectExtension(type: string): string; detectMimeType(fileName: string): string }
  export default libmime
}

declare module 'libmime/lib/charset.js' {
  const charset: {
    normalizeCharset(name: string): string
    decode(bytes: Uint8Array, charset: string): string
  }
  export default charset
}
