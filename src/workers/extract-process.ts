// Sandboxed process of extractor.ts: a malicious file can only crash this process.

import { extract } from '../content/extract/extract.ts'
import type { FileToRead } from '../content/extract/extracted-content.ts'

process.on('message', (file: FileToRead) => {
  process.send!(extract(file))
})
// The parent process has exited.
process.on('disconnect', () => process.exit())
