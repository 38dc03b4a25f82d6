# The receiver as an image: for a Docker Space, for docker compose, for anything else that runs containers.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev && npm cache clean --force

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=7860 \
    DATA_DIR=/data \
    NODE_COMPILE_CACHE=/app/.compile-cache
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json ./
COPY src ./src
COPY public ./public
# uid 1000 is whom a Space runs as: it owns the data folder and the compile cache, and nothing else.
RUN mkdir /data .compile-cache && chown 1000:1000 /data .compile-cache
USER 1000
# One start at build time fills the compile cache, so that the first start of a container is a warm one.
RUN PORT=0 HOST=127.0.0.1 DATA_DIR=/tmp/warm-up timeout 10 npm start > /dev/null 2>&1 || true; rm -rf /tmp/warm-up
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--import", "./src/preflight.js", "src/index.ts"]
