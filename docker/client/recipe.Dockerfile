# A recipe's files on top of the image that it runs in: built by zooquake, see src/images/recipe.rs.
ARG BASE
FROM $BASE
LABEL zooquake.image=recipe
COPY recipe /recipe
WORKDIR /recipe
