// The thread in which large batches are read.

import { inThread } from '../../http/large-body.ts'
import { reader } from './batch-body.ts'

export default inThread(reader)
