// The thread in which large samples are read.

import { inThread } from '../../../src/http/large-body.ts'
import { reader } from './large-sample.ts'

export default inThread(reader)
