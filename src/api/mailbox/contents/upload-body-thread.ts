// The thread that reads large JSON uploads.

import { inThread } from '../../../http/large-body.ts'
import { reader } from './upload-body.ts'

export default inThread(reader)
