# Serving: argrank export model.json --to python -o deploy, then
# docker build -f containers/serve.Dockerfile -t my-ranker deploy. The exported module needs Python alone.
FROM python:3.13-slim
RUN useradd --create-home ranker
USER ranker
WORKDIR /home/ranker
COPY . .
CMD ["python"]
