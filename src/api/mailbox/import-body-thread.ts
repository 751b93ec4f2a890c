// The thread in which large imports are read.

import { inThread } from '../../http/large-body.ts'
import { reader } from './import-body.ts'

export default inThread(reader)
