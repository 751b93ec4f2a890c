// Worker thread of body-reader.ts.

import type { Part } from '../mime/message.ts'
import { bodyText } from '../mime/parse.ts'

export interface BodyTask {
  bytes: Uint8Array
  root: Part
}

export default ({ bytes, root }: BodyTask) => bodyText(bytes, root)
