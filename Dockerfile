# The image holds one static binary, which is built outside (make image) so that
# everybody who builds the same commit gets the same bytes. There is no shell,
# no package and no certificate in it: the API server's authority comes with the
# ServiceAccount, that of a scheduler extender from a Secret.
FROM scratch
ARG VERSION=unknown
LABEL org.opencontainers.image.title="edict" \
      org.opencontainers.image.description="A Kubernetes controller whose decisions are policy files" \
      org.opencontainers.image.source="https://github.com/edict-dev/edict" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
COPY --chmod=0555 bin/image/edict /edict
COPY --chmod=0444 bin/image/NOTICES bin/image/sbom.cdx.json /licenses/
USER 65532:65532
ENTRYPOINT ["/edict"]
