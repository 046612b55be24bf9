# The running zooquake on top of the tools: built by zooquake from its own executable, see src/images/executable.rs.
ARG BASE
FROM $BASE
LABEL zooquake.image=tools
COPY root /
