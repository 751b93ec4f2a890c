// The thread that reads large batches.

import { inThread } from '../../http/large-body.ts'
import { reader } from './batch-body.ts'

export default inThread(reader)
