# Mailstead as one container: no build step, the sources run as they are.

FROM node:26-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM node:26-slim
# The cache of compiled sources makes every start but the first one faster and smaller.
ENV NODE_ENV=production DATA_DIR=/data NODE_COMPILE_CACHE=/tmp/mailstead
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json package-lock.json LICENSE ./
COPY scripts/install.js scripts/run.js scripts/mailstead.js scripts/
COPY docs docs
COPY src src
RUN ln -s /app/scripts/mailstead.js /usr/local/bin/mailstead \
 && mkdir /data && chown node:node /data
USER node
VOLUME /data
# SMTP, Management and Mailbox API, Sending API. Publish 2525 as 25 where mail comes from outside.
EXPOSE 2525 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.HTTP_PORT || 8080) + '/healthz').then((reply) => process.exit(reply.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/cli/cli.ts", "serve"]
