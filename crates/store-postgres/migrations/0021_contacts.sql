-- For whom an order is: personal data, which is erased some time after the order closed.
CREATE TABLE order_contacts (
    order_id BIGINT PRIMARY KEY,
    contact  TEXT   NOT NULL
);
