// The process in which files are looked into: what is built to break it breaks nothing else.

import { extract } from '../content/extract/extract.ts'
import type { FileToRead } from '../content/extract/extracted.ts'

process.on('message', (file: FileToRead) => {
  process.send!(extract(file))
})
// Whoever asked is gone.
process.on('disconnect', () => process.exit())
