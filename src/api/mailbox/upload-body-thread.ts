// The thread in which large uploads in JSON are read.

import { inThread } from '../../http/large-body.ts'
import { reader } from './upload-body.ts'

export default inThread(reader)
