// Loads @simplewebauthn/server by `require`: its packages for ASN.1 exist in two forms, and mixing them loses their schemas.

module.exports = require('@simplewebauthn/server')
