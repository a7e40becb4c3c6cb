# Training: docker build -f containers/train.Dockerfile -t argrank-train .
FROM python:3.13-slim
RUN apt-get update && apt-get install -y --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir ".[all]"
RUN useradd --create-home argrank
USER argrank
WORKDIR /home/argrank
ENTRYPOINT ["argrank"]
