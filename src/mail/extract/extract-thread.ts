// The thread in which files are looked into: what is built to break it breaks nothing else.

import { extract } from './extract.ts'
import type { FileToRead } from './extracted.ts'

export default (file: FileToRead) => extract(file)
