// The thread that reads large imports.

import { inThread } from '../../../http/large-body.ts'
import { reader } from './import-body.ts'

export default inThread(reader)
